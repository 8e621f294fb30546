/** AWS clients that answer from a table, in the SDK's shapes. */

/** Outputs by command name. Errors are thrown, and functions are called with the input. */
export type Outputs = Readonly<Record<string, object | ((input: unknown) => object)>>;

/**
 * Makes a client answer from a table. Other calls fail.
 *
 * @param asked called with each call's name
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
