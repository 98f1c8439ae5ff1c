package dev.isola.engine.api;

import java.util.List;

/**
 * One page of a build log.
 *
 * @param next the number of the line after this page, for the next call
 * @param last whether no line follows: the build has ended and this is the last page
 */
public record BuildLogPage(List<BuildLogEntry> lines, long next, boolean last) {
  public BuildLogPage {
    lines = List.copyOf(lines);
  }
}
