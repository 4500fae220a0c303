/// The last second of the year 9999: later ones have no such stamp.
const LAST_SECOND: u64 = 253_402_300_799;

/// Seconds since 1970 as `20130524T000000Z`.
pub(crate) fn amz_date(second: u64) -> [u8; 16] {
    let second = second.min(LAST_SECOND);
    let (year, month, day) = civil_date(second / 86_400);
    let of_day = second % 86_400;
    let mut stamp = *b"00000000T000000Z";
    for (at, width, mut value) in [
        (0, 4, year),
        (4, 2, month),
        (6, 2, day),
        (9, 2, of_day / 3600),
        (11, 2, of_day / 60 % 60),
        (13, 2, of_day % 60),
    ] {
        for digit in stamp[at..at + width].iter_mut().rev() {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
        }
    }
    stamp
}

/// Year, month and day of the Gregorian calendar, of a number of days since 1970-01-01. Years are counted from 1 March, so
/// that the leap day is a year's last one; 400 years have 146,097 days.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_YEAR_0: u64 = 719_468; // 0000-03-01 to 1970-01-01
    let days = days + DAYS_FROM_YEAR_0;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::amz_date;

    #[test]
    fn leap_days_turns_of_years_and_the_end_of_the_calendar() {
        for (second, stamp) in [
            (0, "19700101T000000Z"),
            (86_399, "19700101T235959Z"),
            (68_255_999, "19720229T235959Z"),
            (68_256_000, "19720301T000000Z"),
            (946_684_799, "19991231T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (1_369_353_600, "20130524T000000Z"),
            (4_107_542_400, "21000301T000000Z"),
            (4_107_542_399, "21000228T235959Z"),
            (253_402_300_799, "99991231T235959Z"),
            (u64::MAX, "99991231T235959Z"),
        ] {
            assert_eq!(String::from_utf8_lossy(&amz_date(second)), stamp);
        }
    }
}
