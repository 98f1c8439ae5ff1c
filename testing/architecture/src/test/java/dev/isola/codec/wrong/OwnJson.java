package dev.isola.codec.wrong;

import tools.jackson.core.json.JsonFactory;

/** Breaks a rule: only the JSON codec knows Jackson. */
final class OwnJson {
  Class<?> factory() {
    return JsonFactory.class;
  }
}
