/** The field `tls_identities` of an account: certificates for TLS with destinations. */

export const mostTlsIdentities = 50;

/** The name of a secret. It becomes part of the secret's full name, or of a file's. */
export const tlsName = /^[A-Za-z0-9_-]{1,64}$/;

/** Normalizes a host as in URLs. @returns undefined for other texts */
export function tlsHostOf(text: string): string | undefined {
  if (text === '*') return text;
  if (!/^(\[[^\]/@?#\\]+\]|[^:/@?#\\\s*[\]]+)$/.test(text)) return undefined;
  const url = `https://${text}/`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : undefined;
}

export const hasUniqueHosts = (identities: readonly { readonly host: string }[]): boolean =>
  new Set(identities.map(({ host }) => tlsHostOf(host))).size === identities.length;

export const allowedTlsIdentities =
  `a list of up to ${mostTlsIdentities} of {"host", "ca"?, "identity"?}, each with another host, such as hooks.acme.example without a port, ` +
  'or *, and with at least one of ca and identity: names of 1 to 64 letters, digits, "_" and "-"';
