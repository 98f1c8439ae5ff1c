package dev.isola.provider.docker;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The image a sandbox is made from.
 *
 * @param id the engine's, so that a name that moves on meanwhile changes nothing
 * @param digest of what is in it: Isola's own where it is one of Isola's images; empty where it is
 *     not all of the root
 * @param mounts what is mounted to make it whole: the host's folders, where the image is its root
 */
record ImageChoice(
    String id,
    Optional<String> digest,
    Map<String, String> env,
    Optional<String> user,
    List<Map<String, Object>> mounts) {

  static ImageChoice of(JsonNode inspected) {
    JsonNode config = inspected.path("Config");
    Map<String, String> env = new LinkedHashMap<>();
    for (JsonNode variable : config.path("Env")) {
      String text = variable.asString("");
      int equals = text.indexOf('=');
      if (equals > 0 && text.indexOf('\0') < 0) {
        env.put(text.substring(0, equals), text.substring(equals + 1));
      }
    }
    return new ImageChoice(
        Json.text(inspected, "Id"),
        some(Json.text(inspected, "Id")),
        env,
        some(Json.text(config, "User")),
        List.of());
  }

  private static Optional<String> some(String text) {
    return Optional.of(text).filter(one -> !one.isEmpty());
  }

  /** Returns it with what Isola knows of it, and the engine was not told. */
  ImageChoice as(String sum, Map<String, String> variables, Optional<String> account) {
    return new ImageChoice(id, Optional.of(sum), variables, account, mounts);
  }

  /** Returns it with folders of the host's. */
  ImageChoice with(List<Map<String, Object>> more) {
    return new ImageChoice(id, Optional.empty(), env, user, more);
  }
}
