/** Masks credentials in an answer to a token that may not write. */
import { HttpError } from '../error/httpError.ts';
import { parseJson } from '../shared/json.ts';
import { masked } from './secretHeaders.ts';

/**
 * Masks headers in a text. The JSON of callbacks and steps contains headers. Other texts, and larger ones,
 * are the user's own and stay unchanged.
 */
function maskedText(text: string): string {
  const isBase64 = text.startsWith('eyJ');
  const json = Buffer.from(isBase64 ? text : text.startsWith('{"') ? text : '', isBase64 ? 'base64' : 'utf8');
  if (!/headers?"/i.test(json.toString('latin1'))) return text;
  try {
    const value = parseJson('body', json, { values: 50_000, depth: 100 });
    const after = JSON.stringify(masked([value], maskedText)[0]);
    if (after === JSON.stringify(value)) return text;
    return isBase64 ? Buffer.from(after).toString('base64') : after;
  } catch (error) {
    if (error instanceof HttpError) return text;
    throw error;
  }
}

export const maskedAnswer = (body: unknown): unknown =>
  body instanceof Uint8Array ? body : masked([body], maskedText)[0];
