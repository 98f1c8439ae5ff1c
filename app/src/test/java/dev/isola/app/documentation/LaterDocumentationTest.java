package dev.isola.app.documentation;

/** The pages that {@link DocumentationTest} leaves. */
final class LaterDocumentationTest extends DocumentationTest {
  @Override
  boolean covers(String page) {
    return !super.covers(page);
  }
}
