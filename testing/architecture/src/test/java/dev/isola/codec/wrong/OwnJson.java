package dev.isola.codec.wrong;

import tools.jackson.core.json.JsonFactory;

/** Violates a rule: only the JSON codec uses Jackson. */
final class OwnJson {
  Class<?> factory() {
    return JsonFactory.class;
  }
}
