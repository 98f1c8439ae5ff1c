package dev.isola.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckResult.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConformanceMatrixTest {
  @Test
  void hasCountsTablesAndReasons() {
    List<ProviderResult> results =
        List.of(
            new ProviderResult(
                "one",
                List.of(
                    new CheckResult("Exec.works", "X1", Outcome.PASSED, ""),
                    new CheckResult("Pty.opens", "P1", Outcome.NOT_RUN, "no <tty>"))),
            new ProviderResult(
                "two",
                List.of(
                    new CheckResult("Exec.works", "X1", Outcome.FAILED, "a|b\nc"),
                    new CheckResult("Pty.opens", "P1", Outcome.PASSED, ""))));
    assertThat(ConformanceMatrix.markdown(results))
        .endsWith(
            """
            | provider | passed | failed | not run |
            |---|---|---|---|
            | one | 1 | 0 | 1 |
            | two | 1 | 1 | 0 |

            ## Exec

            | check | guards | one | two |
            |---|---|---|---|
            | works | X1 | passed | **FAILED** |
            | **passed** |  | **1/1** | **0/1** |

            ## Pty

            | check | guards | one | two |
            |---|---|---|---|
            | opens | P1 | NOT RUN | passed |
            | **passed** |  | **0/1** | **1/1** |

            ## Failed

            | provider | check | reason |
            |---|---|---|
            | two | Exec.works | a\\|b c |

            ## Not run

            | provider | check | reason |
            |---|---|---|
            | one | Pty.opens | no &lt;tty> |
            """);
  }

  @Test
  void omitsEmptySections() {
    assertThat(
            ConformanceMatrix.markdown(
                List.of(
                    new ProviderResult(
                        "one", List.of(new CheckResult("A.b", "X1", Outcome.PASSED, ""))))))
        .doesNotContain("## Failed", "## Not run");
  }
}
