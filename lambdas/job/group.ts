/**
 * The groups of messages. SQS's fair queues put a group behind the others while it has more than a tenth of the messages in flight,
 * or of the time that consumers spend ("How Amazon SQS fair queues work" in its developer guide). In the delivery queues a group is
 * an account: with a group for each of its hosts, an account with a thousand hosts would be a thousand quiet groups. Between the
 * hosts of one account, circuits, lanes and the queue `slow` keep one from holding up another.
 */

/** Names a group by its parts. It has up to 128 letters, digits and punctuation marks. */
export const groupOf = (...parts: readonly string[]): string =>
  parts
    .join(':')
    // The parts that the ARNs of all functions have would leave too little of a name.
    .replace(/arn:[^:]*:lambda:([^:]*:[^:]*):function:/, '$1:')
    .replace(/[^\x21-\x7e]/g, '_')
    .slice(0, 128);
