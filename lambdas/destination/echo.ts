/** DNS never has names that end in `.invalid` (RFC 6761, 6.4), so this URL hides no real destination. */
const echo = /^https?:\/\/echo\.invalid(:\d+)?([/?]|$)/;

/** Whether a URL is the echo. The service answers it itself, with the request that it would have sent. */
export const isEcho = (url: string): boolean => echo.test(url);
