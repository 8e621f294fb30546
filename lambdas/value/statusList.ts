/** Lists of statuses and ranges, such as `400-499,!408,!429`. `!` excludes a status or range. */

const range = '[345]\\d{2}(-[345]\\d{2})?';
/** Up to 20 parts, of which at least one has no `!`. */
export const statusListForm = `^(!${range},){0,9}${range}(,!?${range}){0,10}$`;
const form = new RegExp(statusListForm);

export const allowedStatusList =
  'up to 20 statuses from 300 to 599 or ranges of them, separated by commas, with a ! before exceptions, such as 400-499,!408,!429';

/** @returns the list without spaces; undefined if it is malformed or lists no status */
export function parseStatusList(text: string): string | undefined {
  const list = text.replaceAll(' ', '');
  return form.test(list) ? list : undefined;
}

/** @param list returned by {@link parseStatusList} */
export function isListed(list: string, status: number): boolean {
  const matching = list.split(',').filter((part) => {
    const ends = part.replace('!', '').split('-').map(Number);
    return status >= Math.min(...ends) && status <= Math.max(...ends);
  });
  return matching.length > 0 && !matching.some((part) => part.startsWith('!'));
}
