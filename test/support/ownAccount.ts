/** Vitest runs this before each test file, even if files share modules. */
import { useOwnAccount } from './service.ts';

await useOwnAccount();
