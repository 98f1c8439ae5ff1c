package dev.isola.engine.api.template;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Template names: {@code NAME} or {@code NAME:TAG}. */
final class TemplateNames {
  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._/-]{0,127}");
  private static final Pattern TAG = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final int MAX_TAGS = 100;
  private static final Pattern NO_TAG = Pattern.compile(":(default|latest)$");

  private TemplateNames() {}

  /** Returns a name without the tag {@code default} or {@code latest}, which both mean no tag. */
  static String withoutDefaultTag(String name) {
    return NO_TAG.matcher(name).replaceFirst("");
  }

  /**
   * Returns the names of a template with a name, which may include a tag, and further tags. The
   * name without a tag comes first.
   */
  static Set<String> of(String name, List<String> tags) {
    if (tags.size() > MAX_TAGS) {
      throw wrong("tags", "must be at most " + MAX_TAGS);
    }
    int colon = name.indexOf(':');
    String plain = colon < 0 ? name : name.substring(0, colon);
    if (!NAME.matcher(plain).matches()) {
      throw wrong("name", "must be lower-case letters, digits, . _ / and -");
    }
    Set<String> names = new LinkedHashSet<>(List.of(plain));
    if (colon >= 0) {
      names.add(tagged(plain, name.substring(colon + 1)));
    }
    tags.forEach(tag -> names.add(tagged(plain, tag)));
    return names;
  }

  private static String tagged(String name, String tag) {
    if (!TAG.matcher(tag).matches()) {
      throw wrong("tags", "must be letters, digits, . _ and -, at most 64 each");
    }
    return name + ":" + tag;
  }

  private static SandboxException wrong(String field, String why) {
    return Fault.of(ErrorCode.INVALID_REQUEST, "'" + field + "' " + why, "correct the request")
        .with("field", field)
        .exception();
  }
}
