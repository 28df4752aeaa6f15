// Conduit by the functions of @hey-api/openapi-ts.

import { getApiArticles, postApiArticles, type Article } from "./sdk";

const headers = { Authorization: "Token a.b.c" };

export async function publish(title: string): Promise<Article> {
  const article = { title, description: "d", body: "b" };
  const { data } = await postApiArticles({ body: { article }, headers, throwOnError: true });
  return data.article;
}

export async function titles(): Promise<string[]> {
  const { data } = await getApiArticles({ query: { limit: 5, tag: "first" } });
  return data?.articles.map(({ title }) => title) ?? [];
}
