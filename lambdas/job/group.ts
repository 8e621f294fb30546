/**
 * Groups for SQS's fair queues. SQS puts a group behind the others while it has more than a tenth of the
 * messages in flight, or of consumers' time ("How Amazon SQS fair queues work" in its developer guide). In
 * the delivery queues a group is an account. If it were a host, an account with a thousand hosts would have a
 * thousand groups that are never put behind.
 */

/** A group's name has up to 128 letters, digits and punctuation marks. */
export const groupOf = (...parts: readonly string[]): string =>
  parts
    .join(':')
    // Shortened, because the common parts of function ARNs would leave too little room for the name.
    .replace(/arn:[^:]*:lambda:([^:]*:[^:]*):function:/, '$1:')
    .replace(/[^\x21-\x7e]/g, '_')
    .slice(0, 128);
