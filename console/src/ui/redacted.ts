/** Tells whether a body or a header's value is redacted: the service shows its hash in its place, and nobody knows it. */
export const isRedacted = (text: string): boolean => text.startsWith('REDACTED:');
