/** The grammars of conditions, updates and projections. */
import type { Action, CallNode, Comparator, Condition, Operand, Path, Section, Update } from './nodes.ts';
import type { Tokens } from './tokens.ts';

/** @throws AwsError naming the wrong token, or if parentheses are directly inside parentheses */
export const parseCondition = (tokens: Tokens): Condition => new ConditionParser(tokens).parse();

type Part = Condition | Operand;

const comparators: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);
const isComparator = (sign: string): sign is Comparator => comparators.has(sign);

/** The deepest nesting of `AND`, `OR`, `NOT` and parentheses. Deeper nesting could overflow the stack. */
const maxDepth = 320;

class ConditionParser {
  readonly #tokens: Tokens;
  readonly #enclosed = new Set<Part>();
  #depth = 0;

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  parse(): Condition {
    const condition = this.#condition(this.#alternatives());
    if (this.#tokens.peek().kind !== 'end') throw this.#tokens.syntaxError();
    return condition;
  }

  /** If an operand is where a condition must be, the token after it is wrong. */
  #condition(part: Part): Condition {
    if (part.kind === 'path' || part.kind === 'value' || part.kind === 'sum')
      throw this.#tokens.syntaxError();
    return part;
  }

  /** If a condition is where an operand must be, the token after it is wrong. */
  #operand(part: Part): Operand {
    if (part.kind === 'path' || part.kind === 'value' || part.kind === 'call') return part;
    throw this.#tokens.syntaxError();
  }

  #alternatives(): Part {
    let left = this.#conjunction();
    while (this.#tokens.isKeyword('OR')) {
      const before = this.#condition(left);
      this.#tokens.take();
      left = { kind: 'or', left: before, right: this.#condition(this.#conjunction()) };
    }
    return left;
  }

  #conjunction(): Part {
    let left = this.#negation();
    while (this.#tokens.isKeyword('AND')) {
      const before = this.#condition(left);
      this.#tokens.take();
      left = { kind: 'and', left: before, right: this.#condition(this.#negation()) };
    }
    return left;
  }

  #negation(): Part {
    if (!this.#tokens.takeKeyword('NOT')) return this.#comparison();
    return this.#nested(() => ({ kind: 'not', condition: this.#condition(this.#negation()) }));
  }

  #comparison(): Part {
    const left = this.#primary();
    const { kind, text } = this.#tokens.peek();
    if (kind === 'sign' && isComparator(text)) {
      const operand = this.#operand(left);
      this.#tokens.take();
      return { kind: 'comparison', operator: text, left: operand, right: this.#operand(this.#primary()) };
    }
    if (this.#tokens.isKeyword('BETWEEN')) return this.#between(this.#operand(left));
    return this.#tokens.isKeyword('IN') ? this.#in(this.#operand(left)) : left;
  }

  #between(operand: Operand): Condition {
    this.#tokens.take();
    const low = this.#operand(this.#primary());
    if (!this.#tokens.takeKeyword('AND')) throw this.#tokens.syntaxError();
    return { kind: 'between', operand, low, high: this.#operand(this.#primary()) };
  }

  #in(operand: Operand): Condition {
    this.#tokens.take();
    this.#tokens.needSign('(');
    const list = [this.#operand(this.#primary())];
    while (this.#tokens.takeSign(',')) list.push(this.#operand(this.#primary()));
    this.#tokens.needSign(')');
    return { kind: 'in', operand, list };
  }

  #primary(): Part {
    if (!this.#tokens.takeSign('('))
      return operandOf(this.#tokens, isConditionKeyword, () => this.#operand(this.#primary()));
    const inner = this.#nested(() => this.#alternatives());
    this.#tokens.needSign(')');
    if (this.#enclosed.has(inner)) throw this.#tokens.refused('The expression has redundant parentheses;');
    this.#enclosed.add(inner);
    return inner;
  }

  #nested<Result>(parse: () => Result): Result {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#tokens.syntaxError();
    const result = parse();
    this.#depth -= 1;
    return result;
  }
}

const conditionKeywords: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT', 'BETWEEN', 'IN']);
const isConditionKeyword = (word: string): boolean => conditionKeywords.has(word.toUpperCase());

/** Parses a placeholder of a value, a path, or a function call. */
function operandOf(tokens: Tokens, isKeyword: (word: string) => boolean, parseInner: () => Operand): Operand {
  const { kind, text } = tokens.peek();
  if (kind === 'value') {
    tokens.take();
    return { kind: 'value', name: text };
  }
  const next = tokens.peek(1);
  if (kind === 'word' && next.kind === 'sign' && next.text === '(' && !isKeyword(text)) {
    tokens.take();
    return callOf(tokens, text, parseInner);
  }
  return { kind: 'path', path: pathOf(tokens, isKeyword) };
}

function callOf(tokens: Tokens, name: string, parseInner: () => Operand): CallNode {
  tokens.needSign('(');
  const operands = [parseInner()];
  while (tokens.takeSign(',')) operands.push(parseInner());
  tokens.needSign(')');
  return { kind: 'call', name, operands };
}

function pathOf(tokens: Tokens, isKeyword: (word: string) => boolean): Path {
  const path: (string | number)[] = [nameOf(tokens, isKeyword)];
  for (;;) {
    if (tokens.takeSign('.')) path.push(nameOf(tokens, isKeyword));
    else if (tokens.takeSign('[')) {
      if (tokens.peek().kind !== 'index') throw tokens.syntaxError();
      path.push(Number(tokens.take().text));
      tokens.needSign(']');
    } else return path;
  }
}

function nameOf(tokens: Tokens, isKeyword: (word: string) => boolean): string {
  const { kind, text } = tokens.peek();
  if (kind !== 'name' && (kind !== 'word' || isKeyword(text))) throw tokens.syntaxError();
  tokens.take();
  return text;
}

const noKeyword = (): boolean => false;

/** @throws AwsError naming the wrong token */
export function parseProjection(tokens: Tokens): readonly Path[] {
  const paths = [pathOf(tokens, noKeyword)];
  while (tokens.takeSign(',')) paths.push(pathOf(tokens, noKeyword));
  if (tokens.peek().kind !== 'end') throw tokens.syntaxError();
  return paths;
}

const sections: ReadonlySet<string> = new Set<Section>(['SET', 'REMOVE', 'ADD', 'DELETE']);
const isSection = (word: string): word is Section => sections.has(word);
const isUpdateKeyword = (word: string): boolean => sections.has(word.toUpperCase());

/** @throws AwsError naming the wrong token */
export function parseUpdate(tokens: Tokens): Update {
  const found: Section[] = [];
  const actions: Action[] = [];
  do {
    const section = tokens.peek().text.toUpperCase();
    if (!isSection(section)) throw tokens.syntaxError();
    tokens.take();
    found.push(section);
    do actions.push(actionOf(tokens, section));
    while (tokens.takeSign(','));
  } while (tokens.peek().kind !== 'end');
  return { sections: found, actions };
}

function actionOf(tokens: Tokens, section: Section): Action {
  const path = pathOf(tokens, isUpdateKeyword);
  if (section === 'REMOVE') return { section, path };
  if (section === 'SET') {
    tokens.needSign('=');
    return { section, path, value: updateValue(tokens) };
  }
  const { kind, text } = tokens.peek();
  if (kind !== 'value') throw tokens.syntaxError();
  tokens.take();
  return { section, path, value: { kind: 'value', name: text } };
}

/** Parses an operand, or a sum or difference of two, with or without parentheses. */
function updateValue(tokens: Tokens, depth = 0): Operand {
  const left = updateOperand(tokens, depth, updateValue);
  if (left.kind === 'sum') return left;
  for (const operator of ['+', '-'] as const) {
    if (tokens.takeSign(operator)) {
      return { kind: 'sum', operator, left, right: updateOperand(tokens) };
    }
  }
  return left;
}

/**
 * @param depth the number of enclosing parentheses
 * @param parseEnclosed parses the content of parentheses
 */
function updateOperand(
  tokens: Tokens,
  depth = 0,
  parseEnclosed: (tokens: Tokens, depth: number) => Operand = updateOperand,
): Operand {
  if (depth > maxDepth || !tokens.isSign('(')) {
    return operandOf(tokens, isUpdateKeyword, () => updateOperand(tokens));
  }
  tokens.take();
  const operand = parseEnclosed(tokens, depth + 1);
  tokens.needSign(')');
  return operand;
}
