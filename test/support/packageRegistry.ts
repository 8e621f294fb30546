import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { close, listen } from '../../local/http.ts';

const manifestShape = z.looseObject({ name: z.string(), version: z.string() });

export interface PackageRegistry {
  readonly url: string;
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts a package registry that npm can install from.
 *
 * @param folder the folder of its only package
 */
export async function startPackageRegistry(folder: string): Promise<PackageRegistry> {
  const manifest = manifestShape.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
  const tarball = await pack(folder);
  const asked: string[] = [];
  const { server, url: origin } = await listen(({ url = '' }, response) => {
    asked.push(decodeURIComponent(url));
    if (url === '/package.tgz') {
      response.end(tarball);
    } else if (decodeURIComponent(url) === `/${manifest.name}`) {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const dist = { tarball: `${origin}/package.tgz`, integrity };
      const { name, version } = manifest;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { ...manifest, dist } },
        }),
      );
    } else {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Not found"}');
    }
  });
  return {
    url: origin,
    asked,
    close: () => close(server),
  };
}

/** Makes a package's archive, with all files below `package/`. */
async function pack(folder: string): Promise<Buffer> {
  const target = await mkdtemp(join(tmpdir(), 'svc-pack-'));
  try {
    await cp(folder, join(target, 'package'), { recursive: true });
    const file = join(target, 'package.tgz');
    await promisify(execFile)('tar', ['-czf', file, '-C', target, 'package']);
    return await readFile(file);
  } finally {
    await rm(target, { recursive: true });
  }
}
