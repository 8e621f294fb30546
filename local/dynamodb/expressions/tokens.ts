import { refused, type AwsError } from '../../aws/awsError.ts';

type Kind = 'word' | 'name' | 'value' | 'index' | 'sign' | 'end';

interface Token {
  readonly kind: Kind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type ExpressionKind =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'ProjectionExpression'
  | 'UpdateExpression';

export const refusedExpression = (kind: ExpressionKind, message: string): AwsError =>
  refused(`Invalid ${kind}: ${message}`);

/** Words, placeholders of names and of values, digits, and signs. Any other character counts as a sign. */
const pattern = /\s*(?:([A-Za-z]\w*)|(#\w+)|(:\w+)|(\d+)|(<>|<=|>=|[^\s]))/gu;

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(pattern)].map((match): Token => {
    const [all, word, name, value, index, sign] = match;
    const end = match.index + all.length;
    const made = (kind: Kind, text: string): Token => ({ kind, text, start: end - text.length, end });
    if (word !== undefined) return made('word', word);
    if (name !== undefined) return made('name', name);
    if (value !== undefined) return made('value', value);
    return index === undefined ? made('sign', sign ?? '') : made('index', index);
  });
}

const maxOperators = 300;

/** The tokens of an expression, and the position in them. */
export class Tokens {
  readonly #kind: ExpressionKind;
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #at = 0;
  #operators = 0;
  #problem: AwsError | undefined;

  constructor(kind: ExpressionKind, text: string) {
    this.#kind = kind;
    this.#text = text;
    this.#tokens = tokensOf(text);
    this.#end = { kind: 'end', text: '<EOF>', start: text.length, end: text.length };
  }

  placeholders(kind: 'name' | 'value'): readonly string[] {
    const found = this.#tokens.filter((token) => token.kind === kind).map(({ text }) => text);
    return [...new Set(found)];
  }

  peek(further = 0): Token {
    return this.#tokens[this.#at + further] ?? this.#end;
  }

  take(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  /**
   * Takes a token that counts towards the limit of operators: a comparator, a keyword, a function's name, or
   * a sign of a sum.
   */
  takeOperator(): Token {
    this.#operators += 1;
    return this.take();
  }

  takeSign(sign: string): boolean {
    const isNext = this.isSign(sign);
    if (isNext) this.#at += 1;
    return isNext;
  }

  /** @throws AwsError if the next token is not this sign */
  needSign(sign: string): void {
    if (!this.takeSign(sign)) throw this.syntaxError();
  }

  isSign(sign: string): boolean {
    const { kind, text } = this.peek();
    return kind === 'sign' && text === sign;
  }

  /** Whether the next token is this keyword, in any case. */
  isKeyword(keyword: string): boolean {
    const { kind, text } = this.peek();
    return kind === 'word' && text.toUpperCase() === keyword;
  }

  /** Notes a problem, to be reported if there is no syntax error. Only the first one counts. */
  wrong(message: string): void {
    this.#problem ??= this.refused(message);
  }

  /** @throws AwsError if there are more tokens, or a problem was noted */
  end(): void {
    if (this.peek().kind !== 'end') throw this.syntaxError();
    if (this.#operators > maxOperators) {
      this.wrong(`The expression contains too many operators; operator count: ${this.#operators}`);
    }
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** Makes a syntax error at the next token, which quotes its neighbours. */
  syntaxError(): AwsError {
    const token = this.peek();
    const before = this.#tokens[this.#at - 1] ?? token;
    const after = this.peek(1);
    const last = after.kind === 'end' ? (token.kind === 'end' ? before : token) : after;
    const near = this.#text.slice(before.start, last.end);
    return this.refused(`Syntax error; token: "${token.text}", near: "${near}"`);
  }

  refused(message: string): AwsError {
    return refusedExpression(this.#kind, message);
  }
}
