/** Vitest runs this before each test file, also when files share their modules. */
import { useOwnAccount } from './service.ts';

await useOwnAccount();
