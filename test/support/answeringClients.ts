/** Clients of AWS that answer from a table, in the shapes of the SDK. */

/** The outputs of calls by the names of their commands; an error is thrown, and a function is asked with the input. */
export type Outputs = Readonly<Record<string, object | ((input: unknown) => object)>>;

/**
 * Has a client answer from a table in place of AWS. A call that is not in it fails.
 *
 * @param asked gets the name of each call
 */
export function answerFrom(
  client: object,
  outputs: Outputs,
  asked: (name: string) => void = () => undefined,
) {
  Reflect.set(
    client,
    'send',
    ({ constructor: { name }, input }: { constructor: { name: string }; input: unknown }) => {
      asked(name);
      const output = outputs[name];
      if (output === undefined) return Promise.reject(new Error(`AWS does not answer ${name}.`));
      if (output instanceof Error) return Promise.reject(output);
      return Promise.resolve(
        typeof output === 'function' ? Reflect.apply(output, undefined, [input]) : output,
      );
    },
  );
}
