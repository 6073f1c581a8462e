//! Part numbers of Stratix V devices (Stratix V Device Overview 683258, formerly SV51001, on ordering). That section
//! was not at hand: the fields are unverified except for the part numbers of public projects, which the tests have.

/// Facts that a part number states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Speed grade of the fabric.
    pub core: char,
    /// Speed grade of the transceivers.
    pub transceivers: char,
}

impl Part {
    /// Reads a part number of a variant with transceivers: GX, GT and GS. Each of these devices has a hard IP.
    ///
    /// # Errors
    /// The reason why it is not a part number of these variants.
    pub fn parse(number: &str) -> Result<Self, &'static str> {
        let rest = number
            .strip_prefix("5SG")
            .ok_or("it does not begin with 5SG")?;
        let rest = rest
            .strip_prefix(['X', 'T', 'S'])
            .ok_or("the variant after 5SG is not X, T or S")?;
        // The package: F and its pins in hundreds.
        let (front, back) = rest.rsplit_once('F').ok_or("it names no package (F...)")?;
        let front: Vec<char> = front.chars().collect();
        // Hard IPs, member, package and grade: 5SG X-E-A7-N-2-F45-C-2.
        let ['E' | 'M', 'A'..='D', digit, _, transceivers @ '1'..='3'] = front[..] else {
            return Err(
                "it has no member of the family with a grade of the transceivers before the package",
            );
        };
        if !digit.is_ascii_alphanumeric() {
            return Err("it names no member of the family");
        }
        let back: Vec<char> = back.chars().collect();
        let [
            '0'..='9',
            '0'..='9',
            'C' | 'I' | 'M',
            core @ '1'..='4',
            options @ ..,
        ] = &back[..]
        else {
            return Err("it has no grade of the fabric after the package");
        };
        if options.len() > 3 || !options.iter().all(char::is_ascii_alphanumeric) {
            return Err("the characters after the grade of the fabric are not an option");
        }
        Ok(Self {
            core: *core,
            transceivers,
        })
    }

    /// Returns the grade as Platform Designer spells it.
    pub fn speed_grade(self) -> String {
        format!("{}_H{}", self.core, self.transceivers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_parts_and_others() {
        for (number, grade) in [
            ("5SGXEA7N2F45C2", "2_H2"),
            ("5SGXMA7H2F35C2", "2_H2"),
            ("5SGSMD5H2F35C2", "2_H2"),
            ("5SGXEA7K3F40C4N", "4_H3"),
            ("5SGXEA7N2F45C2ES", "2_H2"),
        ] {
            assert_eq!(
                Part::parse(number).unwrap().speed_grade(),
                grade,
                "{number}"
            );
        }
        for number in [
            "",
            "5SGX",
            "5SEE9F45C2",
            "5CGTFD9E5F35C7",
            "EP4SGX230KF40C2",
            "5SGXEA7N2F45",
            "5SGXEA7N2F45C",
            "5SGXEA7N2F45C2LONGER",
            "5SGXEA7NF45C2",
            "5sgxea7n2f45c2",
            "10AX115S2F45I2SG",
            "5SGXEA7N2Fé5C2",
        ] {
            assert!(Part::parse(number).is_err(), "{number}");
        }
    }
}
