/**
 * SQS's fair queues put a group behind the others while it has more than a tenth of the messages in flight, or of consumers'
 * time ("How Amazon SQS fair queues work" in its developer guide). A group in the delivery queues is an account: an account
 * with a thousand hosts would otherwise have a thousand quiet groups.
 */

/** Up to 128 letters, digits and punctuation marks. */
export const groupOf = (...parts: readonly string[]): string =>
  parts
    .join(':')
    // The common parts of function ARNs would leave too little of the name.
    .replace(/arn:[^:]*:lambda:([^:]*:[^:]*):function:/, '$1:')
    .replace(/[^\x21-\x7e]/g, '_')
    .slice(0, 128);
