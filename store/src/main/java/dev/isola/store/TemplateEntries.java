package dev.isola.store;

import java.util.List;
import java.util.Optional;

/** The templates of the ledger and their builds. */
public interface TemplateEntries {

  /** Inserts a template. Returns false and writes nothing if its id exists. */
  boolean insert(TemplateEntry entry);

  Optional<TemplateEntry> find(String id);

  /** Returns all templates, oldest first. */
  List<TemplateEntry> all();

  /** Replaces a template. Returns false if it does not exist. */
  boolean update(TemplateEntry entry);

  /** Removes a template with its builds. Returns whether it existed. */
  boolean remove(String id);

  /** Inserts a build. Returns false and writes nothing if its id exists. */
  boolean insert(BuildEntry entry);

  Optional<BuildEntry> build(String id);

  /** Returns the builds of a template, oldest first. */
  List<BuildEntry> builds(String template);

  /** Returns the builds of all templates, oldest first. */
  List<BuildEntry> builds();

  /** Replaces a build. Returns false if it does not exist. */
  boolean update(BuildEntry entry);

  /** Returns whether the build existed. */
  boolean removeBuild(String id);
}
