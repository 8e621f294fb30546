/** An error that ends the migration. Its message is one sentence for the operator. */
export class MigrationError extends Error {
  override readonly name: string = 'MigrationError';
}

/** The target's refusal of one thing, with its reason; the other things go on. */
export class Refusal extends MigrationError {
  override readonly name = 'Refusal';
}
