/**
 * The certificate of a stage that speaks TLS itself. Its files are read again when they change, because
 * certificates are renewed.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Network, TlsFiles } from './network.ts';
import { StageError } from '../stage/stageError.ts';

interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws StageError if the files cannot be read or do not match */
export function readCertificate({ certFile, keyFile }: TlsFiles): Certificate {
  const read = (flag: string, path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (error) {
      throw new StageError(`${flag} ${path} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  };
  const certificate = { cert: read('--tls-cert', certFile), key: read('--tls-key', keyFile) };
  try {
    createSecureContext(certificate);
  } catch (error) {
    throw new StageError(
      `--tls-cert ${certFile} and --tls-key ${keyFile} are not a certificate and its key, both PEM: ${messageOf(error)}`,
      { cause: error },
    );
  }
  return certificate;
}

/** A renewed certificate is used after this time at the latest (ms). */
const lookEveryMs = 60_000;

/**
 * Uses a renewed certificate for new connections. If its files cannot be read or do not match, the old one
 * stays in use, and the problem is reported.
 */
export function renewCertificate(
  server: Server | TlsServer,
  { tls }: Network,
  report: (error: unknown) => void,
): void {
  if (tls === undefined || !('setSecureContext' in server)) return;
  let before = readCertificate(tls);
  const look = (): void => {
    try {
      const now = readCertificate(tls);
      if (now.cert.equals(before.cert) && now.key.equals(before.key)) return;
      before = now;
      server.setSecureContext(now);
    } catch (error) {
      report(error);
    }
  };
  const timer = setInterval(look, lookEveryMs).unref();
  server.once('close', () => {
    clearInterval(timer);
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
