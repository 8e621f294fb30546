/** A process that uses stores for a test, because a damaged file may crash it. */
import { useStore } from './contents.ts';

process.on('message', (file: string) => {
  void useStore(file).then(
    (digest) => process.send?.(digest),
    (error: unknown) => process.send?.(String(error)),
  );
});
