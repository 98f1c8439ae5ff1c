package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.engine.api.ReservedTags;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats the tags that a client has set, without those that the server reserves. */
final class VisibleTags {
  private VisibleTags() {}

  static String text(Map<String, String> tags) {
    return tags.entrySet().stream()
        .filter(tag -> !ReservedTags.contains(tag.getKey()))
        .map(tag -> CellFormat.text(tag.getKey() + "=" + tag.getValue()))
        .collect(Collectors.joining(" "));
  }
}
