package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineTest {
  private static final Resources ROOM = Resources.of(4, 4096);
  private final Line line = new Line(Capacity.ofInstallation(ROOM), Headroom.UNCHECKED);

  private Line.Ticket join(double cpu, long memoryMb) {
    return line.join("p", Resources.of(cpu, memoryMb), Instant.MAX);
  }

  @Test
  void servesInOrderAndLetsNobodyOvertake() {
    Line.Ticket first = join(1, 3000);
    Line.Ticket large = join(1, 3000);
    Line.Ticket small = join(1, 100);
    assertThat(first.state()).isEqualTo(Line.State.HOLDING);
    assertThat(large.state()).isEqualTo(Line.State.WAITING);
    assertThat(small.state()).as("would fit, but is behind").isEqualTo(Line.State.WAITING);
    assertThat(line.leave(first)).containsExactly(large, small);
    assertThat(line.free()).isEqualTo(Resources.of(2, 996));
  }

  @Test
  void whoGivesUpMakesWayForThoseBehind() {
    Line.Ticket first = join(1, 3000);
    Line.Ticket large = join(1, 3000);
    Line.Ticket small = join(1, 100);
    assertThat(line.leave(large)).containsExactly(small);
    assertThat(line.leave(first)).isEmpty();
  }

  @Test
  void givesBackOnce() {
    Line.Ticket one = join(1, 1000);
    assertThat(line.leave(one)).isEmpty();
    assertThat(line.leave(one)).isEmpty();
    assertThat(line.free()).isEqualTo(ROOM);
  }

  @Test
  void countsWhatExistsAlreadyEvenWithoutRoom() {
    Line.Ticket existing = line.adopt("p", Resources.of(8, 9000));
    assertThat(line.free()).isEqualTo(Resources.of(-4, -4904));
    Line.Ticket next = join(1, 1);
    assertThat(next.state()).isEqualTo(Line.State.WAITING);
    assertThat(line.leave(existing)).containsExactly(next);
  }

  @Test
  void countsWhatIsPromisedToEachProvider() {
    Line.Ticket east = line.join("east", Resources.of(1, 1000), Instant.MAX);
    Line.Ticket west = line.adopt("west", Resources.of(2, 500));
    assertThat(line.promised("east")).isEqualTo(Resources.of(1, 1000));
    assertThat(line.promised("west")).isEqualTo(Resources.of(2, 500));
    line.move(east, "west");
    assertThat(line.promised("east")).isEqualTo(Resources.NONE);
    assertThat(line.promised("west")).isEqualTo(Resources.of(3, 1500));
    assertThat(line.promised()).isEqualTo(Resources.of(3, 1500));
    line.leave(east);
    line.leave(west);
    line.move(east, "east");
    assertThat(line.promised("east")).as("it holds nothing any more").isEqualTo(Resources.NONE);
    assertThat(line.promised("west")).isEqualTo(Resources.NONE);
  }

  /** Fractions that do not come out even in floating point come out even here. */
  @Test
  void comesOutEvenAfterAnyOrderOfComingAndGoing() {
    Random random = new Random(1);
    List<Line.Ticket> tickets = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      tickets.add(join(0.1 + random.nextInt(30) / 10.0, 1 + random.nextInt(2000)));
      Collections.swap(tickets, random.nextInt(tickets.size()), tickets.size() - 1);
      if (tickets.size() > 50) {
        line.leave(tickets.removeLast());
      }
      assertThat(line.promised().fitsIn(ROOM)).isTrue();
    }
    tickets.forEach(line::leave);
    assertThat(line.promised()).isEqualTo(Resources.NONE);
    assertThat(line.waiting()).isZero();
  }
}
