/** In these tests `SvcQueue` gets this in place of `lib/functions/code.ts`: a comment instead of each function's bundle. */
import { Code } from 'aws-cdk-lib/aws-lambda';

export const codeOf = (handler: string): Code => Code.fromInline(`// ${handler}`);
