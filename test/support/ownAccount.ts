/** Vitest runs this before each test file, also where files share their modules. */
import { useOwnAccount } from './service.ts';

await useOwnAccount();
