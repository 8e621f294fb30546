/**
 * Checks a metric-math expression by CloudWatch's documents ("Using math expressions with CloudWatch metrics", "Limits" of
 * alarms): functions, operators, and types. It may refuse functions that CloudWatch knows, but accepts nothing that CloudWatch
 * refuses.
 */
import jsep from 'jsep';

/** A number, a series of data points, or an array of series. */
type MathType = 'number' | 'series' | 'array';

const operators = ['+', '-', '*', '/'];

function ofArray(elements: readonly (jsep.Expression | null)[], ids: readonly string[]): MathType {
  const types = elements.map((element) => (element === null ? undefined : typeOf(element, ids)));
  // CloudWatch refuses arrays with both numbers and series.
  if (types.length === 0 || types.some((type) => type !== 'series'))
    throw new Error('An array has something else than series.');
  return 'array';
}

function ofCall(name: string, given: readonly jsep.Expression[], ids: readonly string[]): MathType {
  const types = given.map((one) => typeOf(one, ids)).join(', ');
  // FILL inserts a number where a series has no data point; MAX makes an array one series.
  if (name === 'FILL' && types === 'series, number') return 'series';
  if (name === 'MAX' && types === 'array') return 'series';
  throw new Error(`There is no ${name}(${types}).`);
}

/** @throws Error if CloudWatch would refuse the expression */
function typeOf(expression: jsep.Expression, ids: readonly string[]): MathType {
  if (isIdentifier(expression)) {
    if (ids.includes(expression.name)) return 'series';
    throw new Error(`There is no metric ${expression.name}.`);
  }
  if (isLiteral(expression)) {
    if (typeof expression.value === 'number') return 'number';
    throw new Error(`${expression.raw} is no number.`);
  }
  if (isArray(expression)) return ofArray(expression.elements, ids);
  if (isCall(expression) && isIdentifier(expression.callee))
    return ofCall(expression.callee.name, expression.arguments, ids);
  if (isBinary(expression) && operators.includes(expression.operator)) {
    const types = [typeOf(expression.left, ids), typeOf(expression.right, ids)];
    if (types.includes('array')) throw new Error('An alarm watches one series, not an array.');
    return types.includes('series') ? 'series' : 'number';
  }
  throw new Error(`An expression has no ${expression.type}.`);
}

const isIdentifier = (one: jsep.Expression): one is jsep.Identifier => one.type === 'Identifier';
const isLiteral = (one: jsep.Expression): one is jsep.Literal => one.type === 'Literal';
const isArray = (one: jsep.Expression): one is jsep.ArrayExpression => one.type === 'ArrayExpression';
const isCall = (one: jsep.Expression): one is jsep.CallExpression => one.type === 'CallExpression';
const isBinary = (one: jsep.Expression): one is jsep.BinaryExpression => one.type === 'BinaryExpression';

/**
 * Finds what CloudWatch would refuse in an alarm's expression.
 *
 * @param ids of the metrics that it may use; each must begin with a lower-case letter
 */
export function faultInExpression(text: string, ids: readonly string[]): string | undefined {
  const wrongId = ids.find((id) => !/^[a-z][A-Za-z0-9_]*$/.test(id));
  if (wrongId !== undefined) return `${wrongId} is no id of a metric.`;
  const unused = ids.find((id) => !new RegExp(`\\b${id}\\b`).test(text));
  if (unused !== undefined) return `${unused} is not used.`;
  try {
    return typeOf(jsep(text), ids) === 'series' ? undefined : 'An alarm watches one series.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
