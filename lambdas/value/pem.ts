/** Certificates in a text of PEM. */
import { X509Certificate } from 'node:crypto';

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

interface Found {
  readonly pem: string;
  /** Undefined for one that cannot be read. */
  readonly certificate: X509Certificate | undefined;
}

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Finds the certificates of a text, in its order; other blocks are ignored. */
export const certificatesIn = (text: string): readonly Found[] =>
  (text.match(block) ?? []).map((pem) => ({ pem, certificate: read(pem) }));
