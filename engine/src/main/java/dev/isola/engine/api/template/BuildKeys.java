package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.digest.Sha256;
import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Installer;
import dev.isola.document.recipe.Recipe;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Computes cache keys: steps of two builds with the same key produce the same files. The key of a
 * step is a hash of the previous key, the step and, for COPY, its archive.
 */
final class BuildKeys {
  private BuildKeys() {}

  /**
   * Returns the key of a base.
   *
   * @param identity its digest, or its name if it has no digest
   * @param createUser whether the build creates the user of the defaults
   */
  static String base(String identity, Recipe.Defaults defaults, boolean createUser) {
    List<String> fields = new ArrayList<>(List.of("base", identity));
    add(fields, defaults.env());
    fields.addAll(List.of(defaults.user(), defaults.cwd()));
    if (createUser) {
      fields.add("create-user");
    }
    return hash(fields);
  }

  /** Returns the key after each step. */
  static List<String> of(String base, List<BuildStep> steps) {
    List<String> keys = new ArrayList<>();
    String key = base;
    for (BuildStep step : steps) {
      List<String> fields = new ArrayList<>(List.of(step.getClass().getSimpleName(), key));
      fields.addAll(fields(step));
      key = hash(fields);
      keys.add(key);
    }
    return keys;
  }

  private static List<String> fields(BuildStep step) {
    return switch (step) {
      case BuildStep.Run run -> List.of(run.command(), run.user().orElse(""));
      case BuildStep.Copy copy ->
          List.of(
              copy.archive(),
              copy.source(),
              copy.destination(),
              copy.owner().orElse(""),
              copy.mode().orElse(""));
      case BuildStep.Env env -> {
        List<String> fields = new ArrayList<>();
        add(fields, env.variables());
        yield fields;
      }
      case BuildStep.Workdir workdir -> List.of(workdir.path());
      case BuildStep.User user -> List.of(user.name());
      case BuildStep.Packages packages -> {
        List<String> fields = new ArrayList<>(packages.names());
        if (packages.installer() != Installer.SYSTEM) {
          fields.addFirst("--" + packages.installer().field()); // not the name of a package
        }
        yield fields;
      }
    };
  }

  private static void add(List<String> fields, Map<String, String> variables) {
    new TreeMap<>(variables).forEach((name, value) -> fields.addAll(List.of(name, value)));
    fields.add(Integer.toString(variables.size()));
  }

  /** Hashes each field with its length, so that different lists never have the same bytes. */
  private static String hash(List<String> fields) {
    MessageDigest digest = Sha256.newDigest();
    for (String field : fields) {
      byte[] bytes = field.getBytes(UTF_8);
      digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
      digest.update(bytes);
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
