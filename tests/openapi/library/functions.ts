// The library by the functions of @hey-api/openapi-ts.

import { booksLend, booksSearch, eventsReport, scansCreate } from "./sdk";

const headers = { Authorization: "Bearer a.b.c" };

// Variants without a tag, and a flattened union.
export async function lend(id: number): Promise<string> {
  const body = { days: 7, payment: { vat_id: "7" }, delivery: "desk" as const, number: 3 };
  const { data, error } = await booksLend({ path: { id }, body, headers });
  if (data) return "token" in data.payment ? data.payment.token : data.payment.vat_id;
  return "name" in error ? String(error.name) : "";
}

// Lists and an object in the query.
export async function find(): Promise<string[]> {
  const query = { ids: [1, 2], shelves: [7], filter: { state: "open" as const, year: 2026 } };
  const { data } = await booksSearch({ query, headers });
  return data?.map(({ title }) => title) ?? [];
}

export async function report(): Promise<void> {
  await eventsReport({ body: { moved: { shelf: "A1" } }, headers });
  await eventsReport({ body: "lost", headers });
}

// A form with files.
export async function scan(file: Blob): Promise<number | undefined> {
  const { data } = await scansCreate({ body: { title: "Tea", covers: [file], file }, headers });
  return data?.bytes;
}
