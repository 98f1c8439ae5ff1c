package dev.isola.engine.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AdmissionQueueTest {
  private static final Resources ROOM = Resources.of(4, 4096);
  private final AdmissionQueue line =
      new AdmissionQueue(Capacity.ofInstallation(ROOM), Headroom.UNCHECKED);

  private AdmissionQueue.Ticket join(double cpu, long memoryMb) {
    return line.enqueue("p", Resources.of(cpu, memoryMb), Instant.MAX);
  }

  @Test
  void servesInOrderAndLetsNobodyOvertake() {
    AdmissionQueue.Ticket first = join(1, 3000);
    AdmissionQueue.Ticket large = join(1, 3000);
    AdmissionQueue.Ticket small = join(1, 100);
    assertThat(first.state()).isEqualTo(AdmissionQueue.State.ADMITTED);
    assertThat(large.state()).isEqualTo(AdmissionQueue.State.WAITING);
    assertThat(small.state())
        .as("would fit, but is behind")
        .isEqualTo(AdmissionQueue.State.WAITING);
    assertThat(line.release(first)).containsExactly(large, small);
    assertThat(line.free()).isEqualTo(Resources.of(2, 996));
  }

  @Test
  void whoGivesUpMakesWayForThoseBehind() {
    AdmissionQueue.Ticket first = join(1, 3000);
    AdmissionQueue.Ticket large = join(1, 3000);
    AdmissionQueue.Ticket small = join(1, 100);
    assertThat(line.release(large)).containsExactly(small);
    assertThat(line.release(first)).isEmpty();
  }

  @Test
  void givesBackOnce() {
    AdmissionQueue.Ticket one = join(1, 1000);
    assertThat(line.release(one)).isEmpty();
    assertThat(line.release(one)).isEmpty();
    assertThat(line.free()).isEqualTo(ROOM);
  }

  @Test
  void countsWhatExistsAlreadyEvenWithoutRoom() {
    AdmissionQueue.Ticket existing = line.adopt("p", Resources.of(8, 9000));
    assertThat(line.free()).isEqualTo(Resources.of(-4, -4904));
    AdmissionQueue.Ticket next = join(1, 1);
    assertThat(next.state()).isEqualTo(AdmissionQueue.State.WAITING);
    assertThat(line.release(existing)).containsExactly(next);
  }

  @Test
  void countsWhatIsPromisedToEachProvider() {
    AdmissionQueue.Ticket east = line.enqueue("east", Resources.of(1, 1000), Instant.MAX);
    AdmissionQueue.Ticket west = line.adopt("west", Resources.of(2, 500));
    assertThat(line.reserved("east")).isEqualTo(Resources.of(1, 1000));
    assertThat(line.reserved("west")).isEqualTo(Resources.of(2, 500));
    line.move(east, "west");
    assertThat(line.reserved("east")).isEqualTo(Resources.NONE);
    assertThat(line.reserved("west")).isEqualTo(Resources.of(3, 1500));
    assertThat(line.reserved()).isEqualTo(Resources.of(3, 1500));
    line.release(east);
    line.release(west);
    line.move(east, "east");
    assertThat(line.reserved("east")).as("it holds nothing any more").isEqualTo(Resources.NONE);
    assertThat(line.reserved("west")).isEqualTo(Resources.NONE);
  }

  /** Fractions that do not come out even in floating point come out even here. */
  @Test
  void comesOutEvenAfterAnyOrderOfComingAndGoing() {
    Random random = new Random(1);
    List<AdmissionQueue.Ticket> tickets = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      tickets.add(join(0.1 + random.nextInt(30) / 10.0, 1 + random.nextInt(2000)));
      Collections.swap(tickets, random.nextInt(tickets.size()), tickets.size() - 1);
      if (tickets.size() > 50) {
        line.release(tickets.removeLast());
      }
      assertThat(line.reserved().fitsIn(ROOM)).isTrue();
    }
    tickets.forEach(line::release);
    assertThat(line.reserved()).isEqualTo(Resources.NONE);
    assertThat(line.waiting()).isZero();
  }
}
