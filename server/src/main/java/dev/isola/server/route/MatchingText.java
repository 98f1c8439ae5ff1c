package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A string in which a pattern occurs.
 *
 * @param pattern written with {@code ^} and {@code $} where it describes the whole string
 * @param rule the pattern in words, such as {@code must be NAME=VALUE}
 */
public record MatchingText(Pattern pattern, int longest, String rule, String example)
    implements Shape {
  public MatchingText(String pattern, int longest, String rule, String example) {
    // In Java, $ also matches before a final line break.
    this(Pattern.compile(pattern.replaceFirst("\\$$", "\\\\z")), longest, rule, example);
  }

  @Override
  public Map<String, Object> definition() {
    Map<String, Object> schema = new LinkedHashMap<>(new Shape.Text(longest, "").definition());
    schema.put("pattern", pattern.pattern().replaceFirst("\\\\z$", "\\$"));
    return schema;
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    int before = problems.size();
    new Shape.Text(longest, "").check(field, value, problems);
    if (problems.size() == before
        && value instanceof String text
        && !pattern.matcher(text).find()) {
      problems.add(new Violation(field, rule));
    }
  }
}
