package dev.isola.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A template, as recorded in the ledger.
 *
 * @param names the names of the template, the primary one first
 * @param image the image as named in a spec; empty until a build has succeeded
 * @param document the initial settings of its sandboxes, as JSON
 * @param build the newest build, which may not have started
 */
public record TemplateEntry(
    String id,
    List<String> names,
    String image,
    String document,
    Optional<Long> cpus,
    Optional<Long> memoryMb,
    String build,
    State state,
    Instant createdAt,
    Instant updatedAt) {

  /** The state of a template. */
  public enum State {
    AVAILABLE,
    /** Being removed, and no longer visible to clients. */
    REMOVING
  }

  public TemplateEntry {
    names = List.copyOf(names);
  }

  public TemplateEntry withState(State next, Instant now) {
    return new TemplateEntry(
        id, names, image, document, cpus, memoryMb, build, next, createdAt, now);
  }

  public TemplateEntry withNames(List<String> all, Instant now) {
    return new TemplateEntry(
        id, all, image, document, cpus, memoryMb, build, state, createdAt, now);
  }

  /** Returns this template with the result of a build. */
  public TemplateEntry withBuild(String newImage, String newDocument, Instant now) {
    return new TemplateEntry(
        id, names, newImage, newDocument, cpus, memoryMb, build, state, createdAt, now);
  }
}
