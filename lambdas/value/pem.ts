import { X509Certificate } from 'node:crypto';

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

interface Found {
  readonly pem: string;
  /** Undefined if the certificate cannot be read. */
  readonly certificate: X509Certificate | undefined;
}

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Finds the certificates in a PEM text, in order. Other blocks are ignored. */
export const certificatesIn = (text: string): readonly Found[] =>
  (text.match(block) ?? []).map((pem) => ({ pem, certificate: read(pem) }));
