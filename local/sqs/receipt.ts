/** Receipt handles. Each names a message and one of its receives. */

export interface Receipt {
  readonly messageId: string;
  readonly receive: number;
}

export function formatReceipt({ messageId, receive }: Receipt): string {
  return Buffer.from(`${messageId} ${receive}`).toString('base64url');
}

/** @returns undefined if the text is not a receipt handle */
export function parseReceipt(text: string): Receipt | undefined {
  const [messageId = '', receive = ''] = Buffer.from(text, 'base64url').toString('utf8').split(' ');
  if (messageId.length !== uuidLength || !/^\d+$/.test(receive)) return undefined;
  return { messageId, receive: Number(receive) };
}

const uuidLength = 36;
