package dev.isola.server.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a body with many wrong names costs. */
class UnknownNameTest {
  @Test
  void fewOfManyUnknownFieldsGetAHint() {
    Map<String, Object> body = new LinkedHashMap<>();
    for (int i = 0; i < 80_000; i++) {
      body.put("image_" + i, 1);
    }
    List<Violation> problems = new ArrayList<>();
    new Shape.Obj(Shape.Field.optional("image", new Shape.WholeNumber(1, 2), "a number"))
        .check("", body, problems);

    assertThat(problems).hasSize(80_000);
    assertThat(problems).filteredOn(one -> one.problem().contains("did you mean")).hasSize(50);
  }
}
