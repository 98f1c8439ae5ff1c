package dev.isola.engine.template;

import dev.isola.engine.api.BuildLogEntry;
import java.util.List;

/**
 * A part of the log of a build.
 *
 * @param next the number of the line after the last of these, for the next call
 * @param last whether no line will follow: the build is over, and these are the last
 */
public record BuildLogPage(List<BuildLogEntry> lines, long next, boolean last) {
  public BuildLogPage {
    lines = List.copyOf(lines);
  }
}
