/**
 * Additional certificate authorities, as a layer of the delivery functions. Node reads the file when it
 * starts.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { Code, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { Settings } from '../settings.ts';
import { readCertificates } from './certificateFile.ts';

const fileName = 'extra-ca.pem';

export const extraCaVariables = { NODE_EXTRA_CA_CERTS: `/opt/${fileName}` };

export function makeExtraCaLayer(stack: Stack, { extraCaCertificates }: Settings): LayerVersion | undefined {
  if (extraCaCertificates === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'svc-queue-ca-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, fileName), readCertificates(extraCaCertificates));
  return new LayerVersion(stack, 'ExtraCa', {
    code: Code.fromAsset(folder),
    description: 'Certificates of authorities that deliveries trust besides the public ones',
  });
}
