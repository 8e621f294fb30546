/**
 * The expression of `Svc-Retry-Delay`: arithmetic with the variable `retried`, in milliseconds. jsep parses it; this file
 * checks and evaluates it without `eval` or `Function`.
 */
import { longestExpression } from '../shared/bounds.ts';
import jsep from 'jsep';
import { badRequest, quote } from '../error/httpError.ts';

const functions = {
  pow: { arity: 2, apply: (x: number, y: number) => Math.pow(x, y) },
  exp: { arity: 1, apply: (x: number) => Math.exp(x) },
  sqrt: { arity: 1, apply: (x: number) => Math.sqrt(x) },
  abs: { arity: 1, apply: (x: number) => Math.abs(x) },
  floor: { arity: 1, apply: (x: number) => Math.floor(x) },
  ceil: { arity: 1, apply: (x: number) => Math.ceil(x) },
  round: { arity: 1, apply: (x: number) => Math.round(x) },
  min: { arity: 2, apply: (x: number, y: number) => Math.min(x, y) },
  max: { arity: 2, apply: (x: number, y: number) => Math.max(x, y) },
} as const;

const operators = {
  '+': (x: number, y: number) => x + y,
  '-': (x: number, y: number) => x - y,
  '*': (x: number, y: number) => x * y,
  '/': (x: number, y: number) => x / y,
  '%': (x: number, y: number) => x % y,
} as const;

type FunctionName = keyof typeof functions;
type Operator = keyof typeof operators;

export type RetryDelay =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'retried' }
  | { readonly kind: 'negative'; readonly of: RetryDelay }
  | {
      readonly kind: 'operation';
      readonly operator: Operator;
      readonly left: RetryDelay;
      readonly right: RetryDelay;
    }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly RetryDelay[] };

const isFunction = (name: string): name is FunctionName => Object.hasOwn(functions, name);
const isOperator = (name: string): name is Operator => Object.hasOwn(operators, name);

/**
 * Parses and checks an expression.
 *
 * @throws HttpError 400 for wrong syntax, an unknown name or the wrong number of arguments
 */
export function parseRetryDelay(field: string, text: string): RetryDelay {
  const refuse = (problem: string): Error =>
    badRequest(
      'retry_delay_invalid',
      `${field} is ${quote(text)}: ${problem}. Allowed are numbers, the variable retried, + - * / % and parentheses, ` +
        `and the functions ${Object.keys(functions).join(', ')}; the result is milliseconds.`,
    );
  if (text.length > longestExpression) throw refuse(`it is longer than ${longestExpression} characters`);

  const read = (node: jsep.Expression): RetryDelay => {
    const tree = node as jsep.CoreExpression;
    switch (tree.type) {
      case 'Literal':
        if (typeof tree.value !== 'number') throw refuse(`${quote(tree.raw)} is not a number`);
        if (!Number.isFinite(tree.value)) throw refuse(`${quote(tree.raw)} is too large a number`);
        return { kind: 'number', value: tree.value };
      case 'Identifier':
        if (tree.name !== 'retried') throw refuse(`the name ${quote(tree.name)} is unknown`);
        return { kind: 'retried' };
      case 'UnaryExpression':
        if (tree.operator === '+') return read(tree.argument);
        if (tree.operator !== '-') throw refuse(`the operator ${quote(tree.operator)} is unknown`);
        return { kind: 'negative', of: read(tree.argument) };
      case 'BinaryExpression':
        if (!isOperator(tree.operator)) throw refuse(`the operator ${quote(tree.operator)} is unknown`);
        return { kind: 'operation', operator: tree.operator, left: read(tree.left), right: read(tree.right) };
      case 'CallExpression': {
        const callee = tree.callee as jsep.CoreExpression;
        if (callee.type !== 'Identifier') throw refuse('only a function can be called');
        if (!isFunction(callee.name)) throw refuse(`the function ${quote(callee.name)} is unknown`);
        const { arity } = functions[callee.name];
        if (tree.arguments.length !== arity) {
          throw refuse(
            `${callee.name} takes ${arity} argument${arity > 1 ? 's' : ''}, not ${tree.arguments.length}`,
          );
        }
        return { kind: 'call', name: callee.name, args: tree.arguments.map(read) };
      }
      default:
        throw refuse(text.trim() === '' ? 'it is empty' : 'it is not one arithmetic expression');
    }
  };

  let tree: jsep.Expression;
  try {
    tree = jsep(text);
  } catch (error) {
    throw refuse(error instanceof Error ? error.message.replace(/\.$/, '') : 'it cannot be read');
  }
  return read(tree);
}

/**
 * @param retried 0 for the first retry
 * @returns milliseconds, without limits; may be NaN or infinite
 */
export function evaluateRetryDelay(expression: RetryDelay, retried: number): number {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'retried':
      return retried;
    case 'negative':
      return -evaluateRetryDelay(expression.of, retried);
    case 'operation':
      return operators[expression.operator](
        evaluateRetryDelay(expression.left, retried),
        evaluateRetryDelay(expression.right, retried),
      );
    case 'call': {
      const [x = NaN, y = NaN] = expression.args.map((arg) => evaluateRetryDelay(arg, retried));
      return functions[expression.name].apply(x, y);
    }
  }
}
