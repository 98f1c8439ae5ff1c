package dev.isola.engine.api.template;

/**
 * The image that a build stores.
 *
 * @param replace whether to replace an existing image of that name
 * @param template whether the image belongs to a template, which records the defaults of its
 *     sandboxes itself and has no files in the workspace
 */
record ImageTarget(String name, boolean replace, boolean template) {
  static ImageTarget ofTemplate(String name) {
    return new ImageTarget(name, false, true);
  }
}
