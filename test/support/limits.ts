/**
 * The tests' time limits. They only find hangs: a test that takes a second on a quiet machine may take a minute on a busy one.
 */

/**
 * On an emulator, the job of a worker that is stopped at its start becomes visible again after the queue's visibility timeout,
 * 405 s.
 */
const factor = process.env['SVC_E2E_TARGET'] === 'deployed' ? 5 : 1;

/** Milliseconds for one wait in a test, such as an answer, a delivery, or the start of a process. */
export const limitForHangsMs = 120_000 * factor;

/** Milliseconds for an installation of packages, or for hundreds of requests in another program. */
export const limitForInstallsMs = 600_000;

/** Milliseconds for a whole test, or for a file's preparation. */
export const limitForTestsMs = 300_000 * factor;

/** Milliseconds for a test that kills a process at each of its calls. */
export const limitForManyDeathsMs = 1_800_000;
