package dev.isola.app.documentation;

import org.junit.jupiter.api.Tag;

/** The pages that {@link DocumentationTest} leaves. */
@Tag("all")
final class LaterDocumentationTest extends DocumentationTest {
  @Override
  boolean covers(String page) {
    return !super.covers(page);
  }
}
