// Uses that must not compile: each comment is an error where nothing is wrong.

import createClient from "openapi-fetch";
import type { paths } from "./schema";
import { postApiArticles, type Profile } from "./sdk";

const conduit = createClient<paths>();
const profile = {} as Profile;

export const wrong = [
  // @ts-expect-error the title is missing
  conduit.POST("/api/articles", { body: { article: { description: "d", body: "b" } } }),
  // @ts-expect-error the title is missing
  postApiArticles({ body: { article: { description: "d", body: "b" } } }),
  // @ts-expect-error there may be no biography
  profile.bio.length,
];
