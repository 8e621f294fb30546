/** Checks of a parsed expression that need neither names nor values. */
import type { Action, CallNode, Condition, Operand, Path, Section, Update } from './nodes.ts';
import { isReserved } from './reserved.ts';
import { refusedExpression, type ExpressionKind } from './tokens.ts';

/** The number of operands of each function. */
const conditionFunctions: Readonly<Record<string, number>> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
  size: 1,
};
const updateFunctions: Readonly<Record<string, number>> = { if_not_exists: 2, list_append: 2 };

const maxIndex = 2 ** 31 - 1;
const maxSteps = 32;
const maxOperators = 300;
const maxAlternatives = 100;

/** @throws AwsError if the expression is invalid */
export function checkCondition(kind: ExpressionKind, condition: Condition): void {
  const checker = new Checker(kind);
  checker.condition(condition);
  checker.end();
}

/** @throws AwsError if the expression is invalid */
export function checkUpdate({ sections, actions }: Update): void {
  const checker = new Checker('UpdateExpression');
  for (const action of actions) checker.action(action);
  checker.sections(sections);
  checker.end();
}

/** @throws AwsError if the expression is invalid */
export function checkProjection(paths: readonly Path[]): void {
  const checker = new Checker('ProjectionExpression');
  for (const path of paths) checker.path(path);
}

class Checker {
  readonly #kind: ExpressionKind;
  #operators = 0;

  constructor(kind: ExpressionKind) {
    this.#kind = kind;
  }

  #refused(message: string): Error {
    return refusedExpression(this.#kind, message);
  }

  path(path: Path): void {
    for (const step of path) {
      if (typeof step === 'string') {
        if (isReserved(step)) {
          throw this.#refused(`Attribute name is a reserved keyword; reserved keyword: ${step}`);
        }
      } else if (step > maxIndex) {
        throw this.#refused(`List index is not within the allowable range; index: [${step}]`);
      }
    }
    if (path.length > maxSteps) {
      throw this.#refused(`The document path has too many nesting levels; nesting levels: ${path.length}`);
    }
  }

  condition(condition: Condition): void {
    this.#operators += 1;
    switch (condition.kind) {
      case 'and':
      case 'or':
        this.condition(condition.left);
        this.condition(condition.right);
        return;
      case 'not':
        this.condition(condition.condition);
        return;
      case 'comparison':
        this.#operands([condition.left, condition.right]);
        return;
      case 'between':
        this.#operands([condition.operand, condition.low, condition.high]);
        return;
      case 'in':
        this.#operands([condition.operand, ...condition.list]);
        if (condition.list.length <= maxAlternatives) return;
        throw this.#refused(
          `The IN operator is provided with too many operands; number of operands: ${condition.list.length}`,
        );
      case 'call':
        this.#conditionCall(condition, 'condition');
    }
  }

  #operands(operands: readonly Operand[]): void {
    for (const operand of operands) this.#operand(operand);
  }

  #operand(operand: Operand): void {
    if (operand.kind === 'path') {
      this.path(operand.path);
      return;
    }
    if (operand.kind === 'value') return;
    this.#operators += 1;
    if (operand.kind === 'sum') {
      this.#operands([operand.left, operand.right]);
      return;
    }
    if (this.#kind === 'UpdateExpression') this.#updateCall(operand);
    else this.#conditionCall(operand, 'operand');
  }

  #conditionCall({ name, operands }: CallNode, as: 'condition' | 'operand'): void {
    if (Object.hasOwn(updateFunctions, name)) {
      throw this.#refused(`The function is not allowed in a condition expression; function: ${name}`);
    }
    const isOperand = name === 'size';
    this.#checkNumber(name, operands, conditionFunctions, () => {
      if (isOperand === (as === 'operand')) return;
      throw this.#refused(misused(name));
    });
    this.#operands(operands);
  }

  #updateCall({ name, operands }: CallNode): void {
    if (Object.hasOwn(conditionFunctions, name)) {
      throw this.#refused(`The function is not allowed in an update expression; function: ${name}`);
    }
    this.#checkNumber(name, operands, updateFunctions, () => undefined);
    if (name === 'list_append' && operands.some((inner) => inner.kind === 'call' && inner.name === name)) {
      throw this.#refused(misused(name));
    }
    this.#operands(operands);
  }

  #checkNumber(
    name: string,
    { length }: readonly Operand[],
    functions: Readonly<Record<string, number>>,
    checkPlace: () => void,
  ): void {
    if (!Object.hasOwn(functions, name)) throw this.#refused(`Invalid function name; function: ${name}`);
    checkPlace();
    if (length === functions[name]) return;
    throw this.#refused(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${length}`,
    );
  }

  action(action: Action): void {
    this.path(action.path);
    if (action.section === 'SET') this.#operand(action.value);
  }

  sections(sections: readonly Section[]): void {
    const twice = sections.find((section, index) => sections.indexOf(section) < index);
    if (twice === undefined) return;
    throw this.#refused(`The "${twice}" section can only be used once in an update expression;`);
  }

  end(): void {
    if (this.#operators <= maxOperators) return;
    throw this.#refused(`The expression contains too many operators; operator count: ${this.#operators}`);
  }
}

const misused = (name: string): string =>
  `The function is not allowed to be used this way in an expression; function: ${name}`;
