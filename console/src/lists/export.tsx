/** Saves a list as a file: all entries that match its filter. */
import type * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import { masked } from '../../../lambdas/wire/secretHeaders.ts';
import { pagesOf, type Request } from '../api/client.ts';
import { Act } from '../ui/action.tsx';
import { count, countOf } from '../ui/basics.tsx';
import { showToast } from '../ui/toast.tsx';
import { csvOf, type Row } from './csv.ts';

/** The most rows in a file. More would take too much time and memory. */
const mostRows = 10_000;

const kinds = {
  CSV: { type: 'text/csv', write: csvOf },
  JSON: { type: 'application/json', write: (rows: readonly Row[]) => JSON.stringify(rows, undefined, 2) },
} as const;

interface ExportProps<Shape extends z.ZodMiniType> {
  readonly name: string;
  readonly shape: Shape;
  readonly request: Request;
  readonly rowsOf: (page: Readable<z.infer<Shape>>) => readonly Row[];
}

export function Export<Shape extends z.ZodMiniType>({ name, shape, request, rowsOf }: ExportProps<Shape>) {
  const save = async (kind: keyof typeof kinds): Promise<undefined> => {
    const rows: Row[] = [];
    let isCut = false;
    for await (const page of pagesOf(shape, request)) {
      isCut = rows.length >= mostRows;
      if (isCut) break;
      rows.push(...rowsOf(page).map((row) => masked(row)));
    }
    isCut ||= rows.length > mostRows;
    const { type, write } = kinds[kind];
    const address = URL.createObjectURL(new Blob([write(rows.slice(0, mostRows))], { type }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${name}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.${kind.toLowerCase()}`;
    link.click();
    URL.revokeObjectURL(address);
    showToast(
      isCut
        ? `The file has the first ${count(mostRows)} rows. There are more: narrow the filter to get the rest.`
        : `The file has ${countOf(rows.length, 'row')}.`,
    );
  };
  return (
    <div class="presets" role="group" aria-label="Save the list as a file">
      {(['CSV', 'JSON'] as const).map((kind) => (
        <Act key={kind} name={kind} kind="quiet" label={`Save as ${kind}`} work={() => save(kind)} />
      ))}
    </div>
  );
}
