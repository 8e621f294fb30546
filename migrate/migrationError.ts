/** An error that ends the migration. Its message is a sentence for the operator. */
export class MigrationError extends Error {
  override readonly name: string = 'MigrationError';
}

/** The target refuses one thing. The migration continues. */
export class Refusal extends MigrationError {
  override readonly name = 'Refusal';
}
